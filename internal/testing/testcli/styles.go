package testcli

import (
	"bytes"
	"sync"
	"testing"

	"mannequin/animsys/mar"
	"mannequin/internal/testing/must"
	"mannequin/offline/mocap"
	"mannequin/offline/procgen/human"
	"mannequin/offline/registration"
)

// Takes returns a straight walk in three styles.
var Takes = sync.OnceValues(func() ([]*registration.Take, map[string]registration.Timeline) {
	all, lines, err := human.Generate(human.Options{Actions: []string{human.Walk}, Styles: []string{"neutral", "old", "proud"}})
	if err != nil {
		panic(err)
	}
	var few []*registration.Take
	seen := map[string]bool{}
	for _, t := range all {
		if t.Content == all[0].Content && !seen[t.Style] {
			seen[t.Style] = true
			few = append(few, t)
		}
	}
	return few, lines
})

// fileOfTakes returns the file of a database of Takes.
var fileOfTakes = sync.OnceValue(func() []byte {
	db, err := registration.Database(Takes())
	if err != nil {
		panic(err)
	}
	db.Name, db.Data, db.License, db.Card = "few", "three walks", "CC0-1.0", "# few"
	var b bytes.Buffer
	if err := db.Encode(&b, false); err != nil {
		panic(err)
	}
	return b.Bytes()
})

// Database returns the database of Takes, read once, because that takes most of a second with the
// race detector.
var Database = sync.OnceValue(func() *mar.Database {
	db, err := mar.Decode(fileOfTakes())
	if err != nil {
		panic(err)
	}
	return db
})

// Styles writes the database and returns its path.
func Styles(t *testing.T) string {
	t.Helper()
	return WriteFile(t, t.TempDir(), "few.safetensors", string(fileOfTakes()))
}

// Take writes a range of frames of one of Takes.
func Take(t *testing.T, dir, name, style string, from, frames int, scale float32) string {
	t.Helper()
	takes, _ := Takes()
	for _, k := range takes {
		if k.Style == style {
			c := k.Clip.Section(from, from+frames)
			var b bytes.Buffer
			must.Do(t, mocap.WriteClip(&b, c.Scaled(scale)))
			return WriteFile(t, dir, name, b.String())
		}
	}
	t.Fatal("no take in ", style)
	return ""
}
