package chance

import . "time" // want "imports time with a dot, which hides what it uses"

var start = Now()
