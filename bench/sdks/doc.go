// Package sdks checks the requests to providers, and how their answers are read, against the providers' own clients. It
// is a separate module so that users of the product do not download these clients:
//
//	make sdks
package sdks
