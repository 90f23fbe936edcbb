// Package reaper starts commands of which nothing is left, neither when they are ended nor when the
// process that started them is killed without a word. On Unix a command and all that it starts are a
// process group, led by a small process that waits for the end of its host. What leaves the group,
// by its own session or group (setsid, a shell with job control), is left alone.
package reaper
