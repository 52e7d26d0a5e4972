//go:build unix

package main

import (
	"testing"

	"mannequin/internal/testing/testcli"
)

// No command overwrites a file that it reads.
func TestOutputs(t *testing.T) { testcli.Outputs(t, newRoot) }
