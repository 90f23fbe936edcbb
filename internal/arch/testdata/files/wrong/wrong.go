// Here stands what the package does.
package wrong
