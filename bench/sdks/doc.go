// Package sdks holds what is sent to providers, and what is understood of their answers, against
// the providers' own clients. It is a module of its own, so that nobody else downloads them:
//
//	make sdks
package sdks
