//go:build !race

package registration

const raced = false
