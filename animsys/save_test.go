package animsys_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys"
	"mannequin/animsys/layer"
	"mannequin/animsys/retarget"
	"mannequin/ecs"
	"mannequin/engine/m3"
	"mannequin/internal/testing/must"
	"mannequin/internal/testing/race"

	arche "github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
	"github.com/zeebo/xxh3"
)

// game plays a crowd as a game does: what happens in a tick follows from its number, and from nothing else.
type game struct {
	*actors
	looks   generic.Map1[ecs.LookAt]
	reaches generic.Map1[ecs.Reach]
	mar     generic.Map1[ecs.MARStyle]
	gram    generic.Map1[ecs.GramStyle]
	clip    *layer.Clip
	mask    *layer.Mask

	characters []*retarget.Character
}

func newGame(t testing.TB, k kind, capacity, workers int) *game {
	var extra []func(*animsys.Options)
	var characters []*retarget.Character
	if k.name == "manifold" {
		m, _, _ := humans(t)
		extra = append(extra, withStyles(t), withCharacters(t, m.Skel, &characters))
	}
	if k.name == "learned matching" {
		extra = append(extra, withStyles(t), withTransfers(t))
	}
	g := &game{actors: k.scene(t, capacity, workers, extra...), characters: characters}
	g.looks, g.reaches = generic.NewMap1[ecs.LookAt](&g.ecs), generic.NewMap1[ecs.Reach](&g.ecs)
	g.mar, g.gram = generic.NewMap1[ecs.MARStyle](&g.ecs), generic.NewMap1[ecs.GramStyle](&g.ecs)
	g.clip, g.mask = gesture(t, g.people.Skel, 0.7)
	return g
}

// play plays ticks from one up to another, and returns the hashes after each.
func (g *game) play(from, to int) (hashes []uint64) {
	g.t.Helper()
	c := g.people
	for tick := from; tick < to; tick++ {
		r := rand.New(rand.NewPCG(uint64(tick), 1))
		n := c.Agents()
		if n == 0 || n < c.Capacity() && r.IntN(9) == 0 {
			must.Get(g.start(tick))(g.t)
			n++
		}
		e := c.Entity(r.IntN(n))
		switch r.IntN(18) {
		case 16, 17:
			if all := g.characters; all != nil {
				must.Do(g.t, c.SetCharacter(e, append(all, nil)[r.IntN(len(all)+1)]))
			}
		case 0:
			if n > 2 {
				must.Do(g.t, c.Despawn(e))
				n--
			}
		case 1:
			must.Do(g.t, c.Nudge(e, m3.V(0.1, 0, -0.2)))
		case 2:
			pos, yaw := at(tick)
			if r.IntN(3) == 0 {
				pos.X += 2000 // in another space
			}
			must.Do(g.t, c.Place(e, pos, yaw))
		case 3, 4:
			must.Do(g.t, c.SetUpdateRate(e, []animsys.UpdateRate{animsys.EveryTick, animsys.Every2, animsys.Every4, animsys.Frozen}[r.IntN(4)]))
		case 5:
			set(&g.looks, e, ecs.LookAt{Target: m3.V(float32(r.IntN(9)), 2, 3), Weight: 1})
		case 6:
			set(&g.reaches, e, ecs.Reach{Left: ecs.Hand{Target: m3.V(float32(r.IntN(9)), 1, 3), Weight: 1}, Right: ecs.Hand{Target: m3.V(0, 1, float32(r.IntN(9))), Weight: 1, Seconds: 0.5}})
		case 7:
			style := ecs.MARStyle{}
			style.Weights[1+r.IntN(2)] = 1
			set(&g.mar, e, style)
			set(&g.gram, e, ecs.GramStyle{Style: r.IntN(4) - 1, Weight: 1})
		case 9:
			must.Do(g.t, c.Play(e, g.clip, layer.PlayOptions{Mask: g.mask, Loop: true, In: 0.1}))
		case 10:
			must.Do(g.t, c.Play(e, g.clip, layer.PlayOptions{Layer: 1, RootMotion: true}))
		case 11:
			must.Do(g.t, c.Stop(e, 0, 0.2))
		case 8:
			if g.mar.Get(e) != nil {
				g.mar.Remove(e)
			}
		}
		for row := range n {
			g.control(c.Entity(row), row, tick)
		}
		g.step(1)
		hashes = append(hashes, c.Hash())
	}
	return hashes
}

func set[T any](m *generic.Map1[T], e arche.Entity, v T) {
	if own := m.Get(e); own != nil {
		*own = v
		return
	}
	m.Assign(e, &v)
}

// A crowd that is restored moves on with the bits of one that never stopped, in the same world and in
// another one with other workers and other agents. Both end in the same state.
func TestConformanceSave(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		const capacity, after = 7, 90
		a, b := newGame(t, k, capacity, 2), newGame(t, k, capacity, 1)
		b.play(1000, 1003)
		tick := 0
		for _, next := range []int{0, 75, 200} {
			a.play(tick, next)
			tick = next
			save := must.Get(a.people.Save([]byte("before")))(t)[6:]
			was := a.people.Hash()
			want := a.play(tick, tick+after)
			end := must.Get(a.people.Save(nil))(t)
			for _, g := range []*game{a, b} {
				must.Do(t, g.people.Restore(save))
				if got := g.people.Hash(); got != was {
					t.Fatalf("tick %d: another hash after Restore", tick)
				}
				// Of the bytes, only the checksum and entities may be others.
				if again := must.Get(g.people.Save(nil))(t); differing(again, save) > 4+8*g.people.Agents() {
					t.Fatalf("tick %d: another state after Restore: %d of %d bytes", tick, differing(again, save), len(save))
				}
				got := g.play(tick, tick+after)
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("tick %d: other bits %d ticks later, in the same world: %v", tick, i, g == a)
					}
				}
				if last := must.Get(g.people.Save(nil))(t); differing(last, end) > 4+8*g.people.Agents() {
					t.Fatalf("tick %d: another state at the end: %d of %d bytes", tick, differing(last, end), len(end))
				}
			}
			must.Do(t, a.people.Restore(save)) // and on from here
		}
	})
}

// differing returns how many bytes differ.
func differing(a, b []byte) (n int) {
	if len(a) != len(b) {
		return max(len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// An agent that is frozen, saved, restored in another crowd and thawed moves with the same bits as an agent that is only frozen
// and thawed. It is frozen in the middle of a window, until its end, and for the time of several windows.
func TestConformanceSaveFrozen(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		const agents, begins = 4, 130
		for _, frozen := range []int{5, 70, 200} {
			a, b := k.scene(t, agents, 1), k.scene(t, agents, 2)
			all, who := a.run(begins, numbers(agents)...), numbers(agents)
			for _, i := range []int{0, 2} {
				must.Do(t, a.people.SetUpdateRate(all[i], animsys.Frozen))
			}
			a.play(all, who, begins, begins+frozen, nil)
			must.Do(t, b.people.Restore(must.Get(a.people.Save(nil))(t)))
			all2 := make([]arche.Entity, agents)
			for row := range all2 {
				all2[row] = b.people.Entity(row)
			}
			still := a.people.BonesAt(0)[0]
			for _, g := range []struct {
				*actors
				all []arche.Entity
			}{{a, all}, {b, all2}} {
				for _, i := range []int{0, 2} {
					must.Do(t, g.people.SetUpdateRate(g.all[i], animsys.EveryTick))
				}
			}
			for tick := begins + frozen; tick < begins+frozen+150; tick++ {
				a.play(all, who, tick, tick+1, nil)
				b.play(all2, who, tick, tick+1, nil)
				if a.people.Hash() != b.people.Hash() {
					t.Fatalf("frozen for %d ticks: %d ticks after that the one who was restored has other bits", frozen, tick-begins-frozen)
				}
			}
			if a.people.BonesAt(0)[0] == still {
				t.Errorf("frozen for %d ticks: no agent moves after it", frozen)
			}
		}
	})
}

// Saving and restoring allocate nothing, once the buffer has grown. They do not wait: a save of a crowd
// whose windows are being made changes nothing.
func TestConformanceSaveAllocations(t *testing.T) {
	race.Single(t)
	forAll(t, func(t *testing.T, k kind) {
		g := newGame(t, k, 6, 1)
		g.play(0, 80)
		save := must.Get(g.people.Save(nil))(t)
		again := func() {
			save = must.Get(g.people.Save(save[:0]))(t)
			must.Do(t, g.people.Restore(save))
		}
		again()
		if n := testing.AllocsPerRun(20, again); n != 0 {
			t.Errorf("it allocates %g times", n)
		}
	})
}

// Whatever is wrong with a save is an error, and nothing changes.
func TestConformanceRestoreDamaged(t *testing.T) {
	saves := map[string][]byte{}
	forAll(t, func(t *testing.T, k kind) {
		g := newGame(t, k, 4, 1)
		g.play(0, 40)
		c := g.people
		save := must.Get(c.Save(nil))(t)
		refused := func(what string, save []byte, part string) {
			t.Helper()
			was, agents := c.Hash(), c.Agents()
			if err := c.Restore(save); err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want an error with %q", what, err, part)
			}
			if c.Hash() != was || c.Agents() != agents {
				t.Fatalf("%s has changed something", what)
			}
		}
		for name, other := range saves {
			refused("a save of "+name, other, "another crowd")
		}
		saves[k.name] = save
		r := rand.New(rand.NewPCG(1, 2))
		flip := func(i int) {
			bad := slices.Clone(save)
			bad[i] ^= 1 << r.IntN(8)
			refused("a flipped byte", bad, "")
		}
		for i := range 300 {
			flip(i)
			flip(r.IntN(len(save)))
			refused("a part", save[:r.IntN(len(save))], "")
		}
		refused("nothing", nil, "no save")
		refused("more", append(slices.Clone(save), 0), "follow")
		next := slices.Clone(save)
		next[7]++
		refused("another version", next, "version 23, and this program reads version 22")
		g.play(40, 45)
		must.Do(t, c.Restore(save))
		g.play(40, 50)
	})
	g := newGame(t, kinds(t)[0], 5, 1)
	if err := g.people.Restore(saves["mann"]); err == nil || !strings.Contains(err.Error(), "room for 4") || !strings.Contains(err.Error(), "room for 5") {
		t.Errorf("another capacity: %v", err)
	}
}

// Entities are kept where they live, agents that the save does not have go, and other components stay.
func TestRestoreEntities(t *testing.T) {
	g := newGame(t, kinds(t)[0], 4, 1)
	c := g.people
	type name struct{ string }
	names := generic.NewMap1[name](&g.ecs)
	var all []arche.Entity
	for i := range 3 {
		all = append(all, must.Get(g.start(i))(t))
		names.Assign(all[i], &name{string(rune('a' + i))})
	}
	save := must.Get(c.Save(nil))(t)
	must.Do(t, c.Despawn(all[0])) // is made again
	late := must.Get(g.start(3))(t)
	slots := generic.NewMap1[ecs.Slot](&g.ecs)
	slots.Remove(all[2]) // no agent any more, and one again
	names.Get(all[1]).string = "changed"
	g.looks.Assign(all[1], &ecs.LookAt{Weight: 1}) // came later
	must.Do(t, c.Restore(save))
	if c.Agents() != 3 || c.Entity(1) != all[1] || c.Entity(2) != all[2] || c.Entity(0) == all[0] || !g.ecs.Alive(c.Entity(0)) || g.ecs.Alive(late) {
		t.Errorf("the entities are %v, %v, %v of %v", c.Entity(0), c.Entity(1), c.Entity(2), all)
	}
	if names.Get(all[1]).string != "changed" || names.Get(c.Entity(0)) != nil || g.looks.Get(all[1]) != nil {
		t.Error("wrong components")
	}
	for row := range 3 {
		if at, ok := c.Row(c.Entity(row)); !ok || at != row {
			t.Errorf("row %d is row %d", row, at)
		}
	}
	// In another world, whose entity of the same number is something else.
	other := newGame(t, kinds(t)[0], 4, 1)
	thing := other.ecs.NewEntity()
	must.Do(t, other.people.Restore(save))
	if _, ok := other.people.Row(thing); ok || !other.ecs.Alive(thing) || other.people.Agents() != 3 {
		t.Error("a thing has become an agent")
	}
}

// A world with several crowds is saved and restored as one, with its clock. An agent that went over to
// another crowd comes back.
func TestSaveWorld(t *testing.T) {
	all := kinds(t)
	g := newGame(t, all[0], 4, 1)
	other := must.Get(all[4].into(&g.ecs, 4, animsys.Options{Ground: g.field}))(t)
	defer other.Close()
	g.play(0, 5)
	must.Get(other.Spawn(m3.V(5, 0, 5), 1))(t)
	both := func(from, to int) (hashes []uint64) {
		for tick := from; tick < to; tick++ {
			hashes = append(hashes, g.play(tick, tick+1)[0], other.Hash())
		}
		return hashes
	}
	both(5, 50)
	clock := generic.NewResource[ecs.Clock](&g.ecs)
	ticks := clock.Get().Tick
	save := must.Get(animsys.Save(&g.ecs, nil))(t)
	want := both(50, 120)
	mover := other.Entity(0)
	slots := generic.NewMap1[ecs.Slot](&g.ecs)
	slots.Remove(mover)
	must.Get(other.Spawn(m3.Vec3{}, 0))(t) // its row is free
	must.Do(t, g.people.Despawn(g.people.Entity(0)))
	must.Do(t, g.people.Add(mover, m3.Vec3{}, 0))
	must.Do(t, animsys.Restore(&g.ecs, save))
	if other.Entity(0) != mover || clock.Get().Tick != ticks {
		t.Errorf("the agent is %v, not %v, in tick %d, not %d", other.Entity(0), mover, clock.Get().Tick, ticks)
	}
	if got := both(50, 120); !slices.Equal(got, want) {
		t.Error("other bits")
	}
	for i := range worldHead {
		bad := slices.Clone(save)
		bad[i] ^= 1
		was := g.people.Hash()
		if err := animsys.Restore(&g.ecs, bad); err == nil || g.people.Hash() != was {
			t.Errorf("a flipped bit of byte %d: %v", i, err)
		}
	}
	must.Do(t, other.Close())
	if err := animsys.Restore(&g.ecs, save); err == nil || !strings.Contains(err.Error(), "2 crowds, and the world has 1") {
		t.Errorf("a crowd less: %v", err)
	}
}

const worldHead = 20 // bytes

// A save is restored in another process.
func TestRestoreInAnotherProcess(t *testing.T) {
	race.Single(t)
	const variable = "MANNEQUIN_TEST_SAVES"
	if dir := os.Getenv(variable); dir != "" {
		for i, k := range kinds(t) {
			g := newGame(t, k, 5, 2)
			must.Do(t, g.people.Restore(must.Get(os.ReadFile(filepath.Join(dir, fmt.Sprint(i))))(t)))
			fmt.Println("hashes", g.play(90, 130))
		}
		return
	}
	dir := t.TempDir()
	var want strings.Builder
	for i, k := range kinds(t) {
		g := newGame(t, k, 5, 1)
		g.play(0, 90)
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), must.Get(g.people.Save(nil))(t), 0o600))
		fmt.Fprintln(&want, "hashes", g.play(90, 130))
	}
	cmd := exec.Command(must.Get(os.Executable())(t), "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want.String()) {
		t.Errorf("%v\n%s, want\n%s", err, out, want.String())
	}
}

// A save of many agents is the same with any number of workers. Its checksums are those of the format, and find
// a damaged byte in each group of agents.
func TestSaveChecksum(t *testing.T) {
	var want []byte
	for _, workers := range []int{1, 3} {
		g := newGame(t, kinds(t)[0], 100, workers)
		for i := range 40 {
			must.Get(g.start(i))(t)
		}
		g.play(0, 5)
		save := must.Get(g.people.Save(nil))(t)
		if want == nil {
			want = save
		}
		sealed := slices.Clone(save)
		if groups := reseal(sealed); !slices.Equal(save, want) || groups != (g.people.Agents()+7)/8 || !slices.Equal(save, sealed) {
			t.Fatalf("%d workers: %d bytes, not as with one, or with other checksums of %d groups", workers, len(save), groups)
		}
		for i := 20; i < len(save); i += len(save) / 50 {
			bad := slices.Clone(save)
			bad[i] ^= 1
			if err := g.people.Restore(bad); err == nil || !strings.Contains(err.Error(), "its checksum is wrong") {
				t.Errorf("%d workers, a damaged byte %d: %v", workers, i, err)
			}
		}
		must.Do(t, g.people.Restore(save))
		if !slices.Equal(must.Get(g.people.Save(nil))(t), want) {
			t.Errorf("%d workers: another save after a restore", workers)
		}
	}
}

// reseal gives a save the length and the checksums of what it has, as far as it has them, and returns the
// number of groups of agents.
func reseal(b []byte) (groups int) {
	const length, sum, head, rows, entry = 8, 16, 24, 8, 12
	if len(b) < head+2 {
		return 0
	}
	binary.LittleEndian.PutUint64(b[length:], uint64(len(b)))
	agents := head + 2 + int(binary.LittleEndian.Uint16(b[head:]))
	if len(b) < agents+6 {
		return 0
	}
	groups = int((uint64(binary.LittleEndian.Uint32(b[agents:])) + rows - 1) / rows)
	table := agents + 6
	if len(b) < table+entry*groups {
		return 0
	}
	first := table + entry*groups
	for g, at := 0, first; g < groups; g++ {
		n := binary.LittleEndian.Uint32(b[table+entry*g:])
		if uint64(n) > uint64(len(b)-at) {
			break
		}
		binary.LittleEndian.PutUint64(b[table+entry*g+4:], xxh3.Hash(b[at:][:n]))
		at += int(n)
	}
	binary.LittleEndian.PutUint64(b[sum:], xxh3.Hash(b[head:first]))
	return groups
}

// No bytes make Restore panic, nor the ticks after it, also if their length and checksum are right.
func FuzzRestore(f *testing.F) {
	all := kinds(f)
	games := make([]*game, len(all))
	for i, k := range all {
		games[i] = newGame(f, k, 3, 1)
		games[i].play(0, 40)
		for games[i].people.Agents() > 1 {
			must.Do(f, games[i].people.Despawn(games[i].people.Entity(0)))
		}
		f.Add(byte(i), must.Get(games[i].people.Save(nil))(f), true)
	}
	f.Fuzz(func(t *testing.T, kind byte, b []byte, sealed bool) {
		if b = slices.Clone(b); sealed {
			reseal(b)
		}
		g := games[int(kind)%len(games)]
		if g.people.Restore(b) != nil {
			return
		}
		for range 3 {
			g.schedule.Step() // a window may be unusable, which is an error
		}
		must.Do(t, g.people.Restore(must.Get(g.people.Save(nil))(t)))
	})
}

// Agents that go to another crowd move on with the bits that they would have had, as do those that stay and those
// that are there.
func TestConformanceHandOver(t *testing.T) {
	forAll(t, func(t *testing.T, k kind) {
		const agents, begins, after = 7, 130, 120 // the last two are there
		whole, from, to := k.scene(t, agents, 1), k.scene(t, agents, 2), k.scene(t, agents, 1)
		want := whole.run(begins, numbers(agents)...)
		// All spawn everywhere, so that windows and searches begin in the same ticks.
		own, there := from.run(0, numbers(agents)...), to.run(0, numbers(agents)...)
		for i := range agents {
			if i < agents-2 {
				must.Do(t, to.people.Despawn(there[i]))
			} else {
				must.Do(t, from.people.Despawn(own[i]))
			}
		}
		from.play(own[:agents-2], numbers(agents-2), 0, begins, nil)
		to.play(there[agents-2:], []int{agents - 2, agents - 1}, 0, begins, nil)
		crossing := []arche.Entity{own[3], own[0]}
		save := must.Get(from.people.SaveAgents([]byte("before"), crossing...))(t)[6:]
		for _, e := range crossing {
			must.Do(t, from.people.Despawn(e))
		}
		came := must.Get(to.people.AddSaved(nil, save))(t)
		if len(came) != 2 || to.people.Agents() != 4 || from.people.Agents() != agents-4 {
			t.Fatalf("%d agents came, there are %d, %d are left", len(came), to.people.Agents(), from.people.Agents())
		}
		own[3], own[0] = came[0], came[1]
		copy(own[agents-2:], there[agents-2:])
		of := func(i int) *actors {
			if i == 0 || i == 3 || i >= agents-2 {
				return to
			}
			return from
		}
		for _, i := range []int{3, 0} {
			if !slices.Equal(to.people.Bones(own[i]), whole.people.Bones(want[i])) || to.people.Root(own[i]) != whole.people.Root(want[i]) {
				t.Errorf("agent %d stands otherwise as soon as it has come", i)
			}
		}
		for tick := begins; tick < begins+after; tick++ {
			for i := range agents {
				of(i).control(own[i], i, tick)
				whole.control(want[i], i, tick)
			}
			whole.step(1)
			from.step(1)
			to.step(1)
			for i := range agents {
				if !slices.Equal(of(i).people.Bones(own[i]), whole.people.Bones(want[i])) {
					t.Fatalf("agent %d has other bits %d ticks after the hand-over", i, tick-begins)
				}
			}
		}
	})
}

// What AddSaved refuses changes nothing.
func TestHandOverRefused(t *testing.T) {
	k := kinds(t)[0]
	a, b := k.scene(t, 4, 1), k.scene(t, 4, 1)
	all, others := a.run(10, 0, 1, 2), b.run(10, 3, 4)
	c := b.people
	save := must.Get(a.people.SaveAgents(nil, all...))(t)
	was := c.Hash()
	must.Fail(c.AddSaved(nil, save))(t, "room for 2 more")
	must.Fail(c.AddSaved(nil, append(slices.Clone(save), 0)))(t, "follow the save")
	must.Fail(c.AddSaved(nil, save[:len(save)-1]))(t, "cut or damaged")
	bad := slices.Clone(save)
	bad[len(bad)-9] ^= 1
	must.Fail(c.AddSaved(nil, bad))(t, "damaged")
	must.Fail(a.people.SaveAgents(nil, all[0], all[0]))(t, "twice")
	must.Fail(a.people.SaveAgents(nil, arche.Entity{}))(t, "not in this crowd")
	if c.Hash() != was || c.Agents() != 2 {
		t.Error("a refused hand-over has changed something")
	}
	one := must.Get(a.people.SaveAgents(nil, all[1]))(t)
	if got := must.Get(c.AddSaved(others, one))(t); len(got) != 3 || c.Agents() != 3 {
		t.Errorf("%d agents", c.Agents())
	}
	if none := must.Get(c.AddSaved(nil, must.Get(a.people.SaveAgents(nil))(t)))(t); len(none) != 0 || c.Agents() != 3 {
		t.Errorf("after a save without agents: %d agents, want 3", c.Agents())
	}
}
