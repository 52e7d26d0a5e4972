package tape

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/models"
	stylesfree "mannequin/models/styles-free"
	"mannequin/netruntime"
	"mannequin/scenes/open"
)

// TestSameBits plays every scene with the shipped networks in every family of kernels and compares
// the hashes of the states. With the environment variable MANNEQUIN_HASHES, the name of a file, it
// also compares them with those of the file, which another processor wrote, or writes it if there
// is none: see scripts/samebits.sh. MANNEQUIN_TICKS is for how many ticks.
func TestSameBits(t *testing.T) {
	ticks := must.Get(strconv.Atoi(cmp.Or(os.Getenv("MANNEQUIN_TICKS"), "30")))(t)
	want := map[string][]string{}
	name := os.Getenv("MANNEQUIN_HASHES")
	file, err := os.ReadFile(name)
	if err == nil {
		if err := json.Unmarshal(file, &want); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range netruntime.KernelFamilies() {
		restore := netruntime.ForceKernels(kind)
		for _, scene := range open.Names {
			if kind == "generic" && len(netruntime.KernelFamilies()) > 1 && scene != "quadruped" && name == "" {
				continue // it takes two minutes
			}
			t.Run(scene+"/"+kind, func(t *testing.T) {
				s := setup(scene, 4)
				s.BF16 = false // which not all processors have
				if scene == "latent" {
					s.Agents, s.Latent = 2, "human-latent"
				}
				r := open.Resources{Workers: 1, Styles: stylesfree.Open, Net: models.Open, Character: resources(t, 1).Character}
				play, _, _, err := OpenScene(s, r)
				if err != nil {
					t.Fatal(err)
				}
				defer play.Close()
				for tick := range ticks {
					if err := play.Step(input(tick)); err != nil {
						t.Fatal(err)
					}
					h := fmt.Sprintf("%016x", play.Hash())
					if tick == len(want[scene]) {
						want[scene] = append(want[scene], h)
					}
					if h != want[scene][tick] {
						t.Fatalf("the state after tick %d has the hash %s on %s with %s kernels, want %s", tick, h, runtime.GOARCH, kind, want[scene][tick])
					}
				}
			})
		}
		restore()
	}
	if name != "" && file == nil && !t.Failed() {
		out, err := json.MarshalIndent(want, "", " ")
		if err == nil {
			err = os.WriteFile(name, out, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
