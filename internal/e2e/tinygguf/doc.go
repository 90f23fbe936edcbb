// Package tinygguf makes language models of less than three megabytes, for a real inference
// server to run in tests: files in the format GGUF, version 3, of the architecture llama.
//
// Nothing is trained. [Random] has random weights that favour short texts: under a grammar it
// writes something else for every seed, and what holds it to a schema is the server alone.
// [Scripted] says word for word what it is told, for a conversation that is known beforehand.
package tinygguf
