// Command web plays the scenes in a browser, in the page beside it. Build it with
// make web, and see it with mannequin serve.
package main
