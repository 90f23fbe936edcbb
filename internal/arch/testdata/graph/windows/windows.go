// Package windows is of one system.
package windows

const Name = "windows"
