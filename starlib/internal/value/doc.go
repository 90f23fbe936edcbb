// Package value has the values of the language: types, nodes, instances of schemas and the parts of agents. It also
// converts data between a script and the engine.
package value
