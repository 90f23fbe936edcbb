// Package good is documented once.
package good
