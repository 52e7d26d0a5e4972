//go:build webgpu

package webgpu

import "testing"

// Faulty is a driver that fails on command, for tests of what stands on this package.
type Faulty struct{ f *faulty }

// OpenFaulty lets the test run on a faulty driver.
func OpenFaulty(t *testing.T) Faulty { return Faulty{openFaulty(t)} }

// Fail lets a call fail: 1 is the next one.
func (f Faulty) Fail(call int64) { f.f.left.Store(call) }

// Failed reports whether the call has come.
func (f Faulty) Failed() bool { return f.f.left.Load() <= 0 }

// Calls returns the number of calls so far.
func (f Faulty) Calls() int64 { return f.f.calls.Load() }
