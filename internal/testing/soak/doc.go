// Package soak has the test that uses everything for hours while things go wrong: it looks for
// what grows.
package soak
