// Package e2e tests runs on a real Temporal server, with workers that are separate processes and are killed.
package e2e
