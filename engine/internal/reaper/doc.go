// Package reaper starts commands so that nothing of them remains when they are ended or when the process that started
// them is killed. On Unix a command and everything that it starts form a process group, led by a small process that
// waits for the end of its host. Processes that leave the group, by a new session or group (setsid, a shell with job
// control), are left alone.
package reaper
