// Package testrun runs the tests of scripts: the functions test_… of files that end in _test.star.
//
// A [File] is such a file, loaded; [File.Run] runs one of its tests. Each test is a run of its own in virtual time,
// whose effects a world answers with what the test has prepared: nothing outside is reached.
package testrun
