package starlib

// ForeignMethods are the rewrites of methods that other languages have.
var ForeignMethods = foreignMethods
