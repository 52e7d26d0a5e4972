//go:build unix

package main

import (
	"testing"

	"mannequin/internal/testing/testcli"
)

// Neither a recording nor a tape overwrites a file that is read.
func TestOutputs(t *testing.T) { testcli.Outputs(t, newCommand) }
