package registration_test

import (
	"fmt"
	"log"

	"mannequin/offline/registration"
)

// All recordings of a folder are registered, action by action.
func Example() {
	takes, _, err := registration.Read([]string{"recordings"}, registration.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, action := range registration.Actions(takes) {
		timeline, report, err := registration.Register(action, registration.Options{})
		if err != nil {
			log.Fatal(err)
		}
		for _, t := range report.Takes {
			for _, w := range t.Warnings {
				fmt.Println(t.Name, w)
			}
		}
		frames, marks := timeline.Match(action[0], action[len(action)-1])
		fmt.Println(timeline.Action, timeline.Period, frames[10], marks[10])
	}
}

// Recordings with names of one's own are told apart by a table.
func ExampleReadTable() {
	table, err := registration.ReadTable("clips.toml", []byte(`
[[pattern]]
files  = "*_walks_*"
action = "walk"
style  = "$1"
cyclic = true

[clip.anna_walks_03]
style = "tired"
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"monday/anna_walks_02", "monday/anna_walks_03"} {
		label, _, _, err := table.Label(name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(label.Action, label.Style, label.Cyclic == registration.Repeats)
	}
	// Output:
	// walk anna true
	// walk tired true
}

func ExampleParseName() {
	label, ok := registration.ParseName("depressed_18_000")
	fmt.Println(label.Action, label.Style, label.Content, ok)
	// Output: punch depressed 18 true
}
