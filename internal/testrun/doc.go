// Package testrun runs the tests of scripts: the functions test_… in files whose names end in _test.star.
//
// A [File] is a loaded test file; [File.Run] runs one of its tests. Each test is a separate run in virtual time. A
// world answers its effects with what the test has prepared; nothing outside is accessed.
package testrun
