package registration

import (
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	for _, c := range []struct {
		name string
		want Label
	}{
		{"angry_01_000", Label{"walk", "angry", "01", "000", Repeats}},
		{"angry_12_003", Label{"walk", "angry", "12", "003", Repeats}},
		{"neutral_13_000", Label{"run", "neutral", "13", "000", Repeats}},
		{"old_15_000", Label{"run", "old", "15", "000", Repeats}},
		{"old_16_000", Label{"jump", "old", "16", "000", Once}},
		{"old_18_010", Label{"punch", "old", "18", "010", Once}},
		{"sexy_21_000", Label{"punch", "sexy", "21", "000", Once}},
		{"sexy_23_000", Label{"kick", "sexy", "23", "000", Once}},
		{"proud_24_000", Label{"transition-24", "proud", "24", "000", Once}},
		{"proud_28_000", Label{"transition-28", "proud", "28", "000", Once}},
		{"dataset-1_bow_not-confident_001", Label{"bow", "not-confident", "bow", "001", Once}},
		{"dataset-2_walk-turn-left_active_017", Label{"walk-turn-left", "active", "walk-turn-left", "017", Repeats}},
		{"dataset-1_dance-short_normal_001", Label{"dance-short", "normal", "dance-short", "001", Unknown}},
	} {
		if got, ok := ParseName(c.name); !ok || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, ok, c.want)
		}
	}
	for _, name := range []string{"", "02_01", "angry_00_000", "angry_29_000", "angry_01_0000", "angry_1_000", "dataset_1_walk_old_001", "dataset-1_walk_001", "x/angry_01_000", "angry_01_000\n"} {
		if l, ok := ParseName(name); ok {
			t.Errorf("%q is taken for %+v", name, l)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, s := range []string{"angry_01_000", "dataset-2_walk-turn-left_active_017", "_01_", "dataset-1__x_001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		l, ok := ParseName(name)
		if ok != (l.Action != "" && l.Style != "" && l.Content != "") || ok && !(strings.Contains(name, l.Style) && strings.Contains(name, l.Content) && strings.HasSuffix(name, l.Number)) {
			t.Errorf("%q: %+v, %v", name, l, ok)
		}
	})
}
