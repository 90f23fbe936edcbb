package sched

import "time"

// abandonAfter is how long an effect may go on after its branch is to stop.
const abandonAfter = time.Second
