package matching_test

import (
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/testmatching"
)

// Speeds ascend in steps, from a walk to a run, and are at most as many as asked for.
func TestSpeeds(t *testing.T) {
	v := testmatching.People(t).Speeds(4)
	if len(v) < 3 || v[0] < 0.5 || v[0] > 1.5 || v[len(v)-1] < 2.5 {
		t.Errorf("%v", v)
	}
	for i := 1; i < len(v); i++ {
		if v[i] < v[i-1]*7/6 {
			t.Errorf("%v: %g is too near", v, v[i])
		}
	}
	if one := testmatching.People(t).Speeds(1); len(one) != 1 {
		t.Errorf("one speed is %v", one)
	}
	if none := (&matching.Database{}).Speeds(4); none != nil {
		t.Errorf("a database without frames has %v", none)
	}
}
