package matching_test

import (
	"slices"
	"testing"

	"mannequin/animsys/matching"
	"mannequin/internal/testing/must"
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

// Frames that walk backward do not count for the speeds of a character, unless no frame walks ahead.
func TestSpeedsAhead(t *testing.T) {
	people := testmatching.People(t)
	var ahead, back []matching.Clip
	for i := range people.Clips() {
		m, tags := people.Motion(i)
		r := *m
		r.Pos, r.Rot = nil, nil
		for f := m.Frames - 1; f >= 0; f-- {
			pos, rot := m.Frame(f)
			r.Pos, r.Rot = append(r.Pos, pos...), append(r.Rot, rot...)
		}
		slices.Reverse(tags)
		ahead, back = append(ahead, matching.Clip{Motion: m, Tags: tags}), append(back, matching.Clip{Motion: &r, Tags: tags})
	}
	speeds := func(clips []matching.Clip) []float32 {
		return must.Get(matching.Build(people.Skel, clips, matching.Options{Roles: &people.Roles, Tags: people.Tags}))(t).Speeds(4)
	}
	want := speeds(ahead[1:])
	if got := speeds(slices.Concat(ahead[1:], back[:1])); !slices.Equal(got, want) {
		t.Errorf("with a clip backward it goes at %v, want %v", got, want)
	}
	if got := speeds(back); len(got) == 0 {
		t.Error("who only walks backward has no speed")
	}
}
