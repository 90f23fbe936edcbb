package driver

import "example.test/app/windows"

var System = windows.Name
