package generable

var in = internals{}
