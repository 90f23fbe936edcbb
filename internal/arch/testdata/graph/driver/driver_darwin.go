package driver

import "example.test/app/darwin"

var System = darwin.Name
