// Package tape records scenes and plays them again: what a scene begins with, what
// comes to it in each tick, and a hash of its state after each. The same program makes
// the same motion of that, to the bit, with any number of workers; where it does not,
// the hashes tell from which tick on.
//
//	s, player, header, err := tape.OpenScene(setup, resources)
//	w, err := tape.NewWriter(file, header)
//	rec := tape.Record(s, w) // a scene that writes down its steps
//	err = w.Close()
//
//	r, err := tape.NewReader(file)
//	s, _, header, err := tape.OpenScene(r.Header.Setup, resources)
//	err = r.Header.Differs(header) // other weights, or another family of processors?
//	ticks, err := tape.Verify(ctx, s, r)
//
// # The file
//
// A tape begins with the line "mannequin tape 1". Blocks follow: one with the header,
// as JSON, one for each second, and one that says that this is all of it. A block is
//
//	kind     1 byte: 'h', 't' or 'e'
//	size     4 bytes, of the contents
//	sum      4 bytes, CRC-32C of these five
//	contents
//	sum      4 bytes, CRC-32C of the contents
//
// with numbers in little-endian order. The contents of a 't' are two varints, the
// number of its first tick and how many they are, the hashes, 8 bytes each, and a
// DEFLATE stream of the inputs: for each tick a varint with a bit for each value that is
// not as in the tick before (before a block's first: zero), and these values as
// varints, each exclusive-or the one before. The header lists the values by name. The
// contents of an 'e' are a varint, the number of all ticks.
//
// A block is written at once. What a program that was killed leaves behind can be
// played up to its last second.
package tape

import (
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/cutscene"
	"mannequin/scenes/cutscene/script"
	"mannequin/scenes/open"
)

// Header says what was recorded, and with what.
type Header struct {
	Setup   open.Setup
	Parts   []Part   // the networks and databases that the scene opened
	Machine string   // the family of processors that computed it, such as "amd64 avx512"
	Kernels []string // what the networks ran on: see netruntime.Session.Kernel
}

// Part is a network, a database or styles.
type Part struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum"` // see netruntime.Net.Checksum, mar.Database.Checksum, manifold.StyleSet.Checksum
}

// Names of what gives people styles, as parts.
const (
	styles    = "styles"      // of ecs.MARStyle
	transfers = "styles-gram" // of ecs.GramStyle
)

// Differs returns why a scene with the header now does not have the same bits as the
// one with h, nil where it has.
func (h *Header) Differs(now Header) error {
	var all []error
	if h.Machine != now.Machine {
		all = append(all, fmt.Errorf("it was recorded on a processor of the family %s, this one is %s: they round differently", h.Machine, now.Machine))
	} else if !slices.Equal(h.Kernels, now.Kernels) {
		all = append(all, fmt.Errorf("its networks ran on %s, here they run on %s: these round differently", strings.Join(h.Kernels, ", "), strings.Join(now.Kernels, ", ")))
	}
	for _, p := range h.Parts {
		if i := slices.IndexFunc(now.Parts, func(q Part) bool { return q.Name == p.Name }); i < 0 {
			all = append(all, fmt.Errorf("it was recorded with %q, which the scene does not use", p.Name))
		} else if now.Parts[i].Checksum != p.Checksum {
			all = append(all, fmt.Errorf("it was recorded with another %q: that had the checksum %.15s…, this one has %.15s…", p.Name, p.Checksum, now.Parts[i].Checksum))
		}
	}
	if len(all) == 0 && len(h.Parts) != len(now.Parts) {
		all = append(all, fmt.Errorf("it was recorded with %d models, the scene uses %d", len(h.Parts), len(now.Parts)))
	}
	return errors.Join(all...)
}

// OpenScene is open.Scene that also notes what the scene is made from.
func OpenScene(s open.Setup, m open.Resources) (scenes.Scene, scenes.Script, Header, error) {
	n := &notes{}
	scene, player, err := open.Scene(s, n.on(m))
	if err != nil {
		return nil, nil, Header{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h := Header{Setup: s, Parts: slices.Clone(n.parts), Machine: runtime.GOARCH + " " + netruntime.Kernels(), Kernels: slices.Clone(n.kernels)}
	slices.Sort(h.Kernels)
	return scene, player, h, nil
}

// notes are of what a scene opens.
type notes struct {
	mu      sync.Mutex // scenes may open sessions from goroutines of their own
	parts   []Part
	kernels []string
}

// on returns resources that note what m opens.
func (n *notes) on(m open.Resources) open.Resources {
	net, db, gram, open := m.Net, m.Styles, m.Transfers, m.Open
	m.Net = func(name string) (*netruntime.Net, error) {
		out, err := net(name)
		if err != nil {
			return nil, err
		}
		return out, n.part(name, out.Checksum)
	}
	if db != nil {
		m.Styles = func() (*mar.Database, error) {
			out, err := db()
			if err != nil || out == nil {
				return nil, err
			}
			return out, n.part(styles, out.Checksum)
		}
	}
	if gram != nil {
		m.Transfers = func() (*manifold.StyleSet, error) {
			out, err := gram()
			if err != nil {
				return nil, err
			}
			return out, n.part(transfers, out.Checksum)
		}
	}
	read := m.Script
	if read == nil {
		read = cutscene.Open
	}
	m.Script = func(name string) (*script.Script, error) {
		out, err := read(name)
		if err != nil {
			return nil, err
		}
		return out, n.part("the script "+name, func() (string, error) { return out.Checksum, nil })
	}
	m.Open = func(net *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		s, err := open.Session(net, o)
		if err != nil {
			return nil, err
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if k := s.Kernel(); !slices.Contains(n.kernels, k) {
			n.kernels = append(n.kernels, k)
		}
		return s, nil
	}
	return m
}

// part notes what is called name.
func (n *notes) part(name string, checksum func() (string, error)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.ContainsFunc(n.parts, func(p Part) bool { return p.Name == name }) {
		return nil
	}
	sum, err := checksum()
	if err == nil {
		n.parts = append(n.parts, Part{name, sum})
	}
	return err
}

// What a tape's file is made of.
const (
	magic   = "mannequin tape "
	version = "1"

	kindHeader = 'h'
	kindTicks  = 't'
	kindEnd    = 'e'

	headSize = 9 // of a block before its contents
	sumSize  = 4

	blockTicks = scenes.TickRate // of a block, but for the last
	maxTicks   = 1024            // of a block that is read
	maxBlock   = 1 << 20         // bytes of its contents
	maxValues  = 64              // of an input
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is a Header as it is written.
type header struct {
	Setup    any      `json:"setup"`
	Parts    []Part   `json:"parts"`
	Machine  string   `json:"machine"`
	Kernels  []string `json:"kernels"`
	Rate     int      `json:"rate"`               // ticks per second
	Steering int      `json:"steering,omitempty"` // version of the scene's steering, if it is not 1
	Inputs   []string `json:"inputs"`             // values of an input, in the order of their bits
}
