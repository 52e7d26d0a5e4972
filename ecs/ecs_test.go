package ecs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mlange-42/arche/ecs"
	"github.com/mlange-42/arche/generic"
	"pgregory.net/rapid"

	"mannequin/internal/testing/must"
)

// Entities are added and removed at random and compared with a map. Rows stay compact, every entity
// keeps its own data, and slots agree with the rows.
func TestRowsKeepTheirEntities(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := ecs.NewWorld()
		rows := NewRows(&w, 8)
		slots := generic.NewMap1[Slot](&w)
		data := make([]int, 8) // stands for a batch's data
		want := map[ecs.Entity]int{}
		for i := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			if rows.Len() == 0 || rapid.Bool().Draw(rt, "add") {
				e := w.NewEntity()
				row, err := rows.Add(e)
				if len(want) == 8 {
					if err == nil {
						rt.Fatal("a ninth row was handed out")
					}
					continue
				}
				if err != nil {
					rt.Fatal(err)
				}
				data[row], want[e] = i, i
			} else {
				e := rows.Entity(rapid.IntRange(0, rows.Len()-1).Draw(rt, "row"))
				row, last, err := rows.Remove(e)
				if err != nil {
					rt.Fatal(err)
				}
				data[row] = data[last]
				delete(want, e)
				w.RemoveEntity(e)
			}
			if rows.Len() != len(want) {
				rt.Fatalf("%d rows for %d entities", rows.Len(), len(want))
			}
			for row := range rows.Len() {
				e := rows.Entity(row)
				if at, ok := rows.Row(e); !ok || at != row {
					rt.Fatalf("the entity in row %d is said to be in %d (%v)", row, at, ok)
				}
				if v, ok := want[e]; !ok || data[row] != v || slots.Get(e).Row != int32(row) {
					rt.Fatalf("row %d holds %d, its entity's is %d (known %v), its slot says %d", row, data[row], v, ok, slots.Get(e).Row)
				}
			}
		}
	})
}

func TestRowsErrors(t *testing.T) {
	w := ecs.NewWorld()
	rows := NewRows(&w, 2)
	a, b := w.NewEntity(), w.NewEntity()
	if _, err := rows.Add(a); err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Add(a); err == nil {
		t.Error("two rows for one entity")
	}
	if _, _, err := rows.Remove(b); err == nil {
		t.Error("removed a row that was never given")
	}
	w.RemoveEntity(b)
	if _, err := rows.Add(b); err == nil {
		t.Error("a row for the dead")
	}
	q := w.Query(ecs.All())
	if _, _, err := rows.Remove(a); err == nil {
		t.Error("removed within a query")
	}
	q.Close()
	if _, _, err := rows.Remove(a); err != nil {
		t.Error(err)
	}
}

// An entity of another world is not alive, even if the next entity of this world will be equal to it.
func TestAlive(t *testing.T) {
	w, other := ecs.NewWorld(), ecs.NewWorld()
	w.RemoveEntity(w.NewEntity())
	other.RemoveEntity(other.NewEntity())
	stranger := other.NewEntity()
	if Alive(&w, stranger) {
		t.Error("alive before it is made")
	}
	if e := w.NewEntity(); e != stranger || !Alive(&w, e) {
		t.Errorf("%v is not alive", e)
	}
	if Alive(&w, ecs.Entity{}) {
		t.Error("the zero entity is alive")
	}
}

// probe is a system that records its calls.
type probe struct {
	name  string
	log   *[]string
	fail  int64 // tick in which it fails, −1 for never
	clock generic.Resource[Clock]
	fault generic.Resource[Fault]
}

func (p *probe) Initialize(w *ecs.World) {
	p.clock, p.fault = generic.NewResource[Clock](w), generic.NewResource[Fault](w)
	*p.log = append(*p.log, "init "+p.name)
}

func (p *probe) Update(w *ecs.World) {
	c := p.clock.Get()
	*p.log = append(*p.log, fmt.Sprintf("%s %d %g", p.name, c.Tick, c.DT))
	if c.Tick == p.fail {
		p.fault.Get().Err = errBroken
	}
}

func (p *probe) Finalize(w *ecs.World) { *p.log = append(*p.log, "end "+p.name) }

var errBroken = errors.New("broken")

func TestSchedule(t *testing.T) {
	w := ecs.NewWorld()
	var log []string
	s := must.Get(NewSchedule(&w, 0.5, &probe{name: "a", log: &log, fail: 1}, &probe{name: "b", log: &log, fail: -1}))(t)
	must.Do(t, s.Step())
	for range 2 {
		if err := s.Step(); !errors.Is(err, errBroken) {
			t.Fatalf("the fault came back as %v", err)
		}
	}
	s.Close()
	s.Close()
	want := []string{"init a", "init b", "a 0 0.5", "b 0 0.5", "a 1 0.5", "end b", "end a"}
	if !slices.Equal(log, want) {
		t.Errorf("ran %q, want %q", log, want)
	}
}

// A nil system is named before any other is initialised.
func TestNilSystem(t *testing.T) {
	w := ecs.NewWorld()
	var log []string
	_, err := NewSchedule(&w, 0.5, &probe{name: "a", log: &log, fail: -1}, nil)
	if err == nil || !strings.Contains(err.Error(), "system 1 of 2") || len(log) > 0 {
		t.Errorf("error %v, ran %q", err, log)
	}
	must.Get(NewSchedule(&w, 0.5))(t).Close()
}

// A world has one schedule at a time.
func TestOneSchedule(t *testing.T) {
	w := ecs.NewWorld()
	s := must.Get(NewSchedule(&w, 0.5))(t)
	if _, err := NewSchedule(&w, 0.5); err == nil {
		t.Error("a second schedule beside the first")
	}
	s.Close()
	s.Close()
	s = must.Get(NewSchedule(&w, 0.5))(t)
	s.Close()
}
