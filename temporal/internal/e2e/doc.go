// Package e2e drives runs on a real Temporal server, with workers that are processes of their own and are killed.
package e2e
