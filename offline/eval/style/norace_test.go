//go:build !race

package style

const raced = false
