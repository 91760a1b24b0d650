// Package servers starts real servers for tests, on loopback ports and in
// directories of the test. Each ends with its test, by process id.
//
// A server that is not installed skips the test with the package to install; in
// continuous integration (CI=true) it fails the test instead, so that a test
// cannot go missing unnoticed.
package servers
