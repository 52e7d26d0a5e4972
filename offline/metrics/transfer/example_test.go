package transfer_test

import (
	"context"
	"fmt"
	"log"

	"mannequin/offline/metrics/transfer"
	"mannequin/offline/procgen/human"
)

// One of two takes of each content is held out, the other learnt from.
func ExampleEvaluate() {
	takes, lines, err := human.Generate(human.Options{Styles: []string{"neutral", "proud"}, Actions: []string{human.Stand}})
	if err != nil {
		log.Fatal(err)
	}
	set := transfer.Set{Name: "stand", From: "neutral", Takes: takes, Lines: lines}
	scores, err := transfer.Evaluate(context.Background(), &set, transfer.Options{Folds: 1, Local: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range transfer.Means(scores, nil) {
		if m.Method == transfer.MAR {
			fmt.Printf("%d cases: %.1f cm, %.1f frames\n", m.Cases, m.Pose, m.Time)
		}
	}
}
