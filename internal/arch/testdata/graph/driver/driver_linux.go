package driver

import "example.test/app/linux"

var System = linux.Name
