package input

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"mannequin/animsys/manifold"
	"mannequin/internal/closest"
	"mannequin/models/styles-gram"
	"mannequin/netruntime"
)

// ShippedTransfers is the name of the embedded styles of a crowd.
const ShippedTransfers = "styles-gram"

// OpenStyleSet opens the shipped styles of a crowd or a file of such styles.
func OpenStyleSet(nameOrPath string) (*manifold.StyleSet, error) {
	if nameOrPath == ShippedTransfers {
		return stylesgram.Open()
	}
	if _, err := os.Stat(nameOrPath); err != nil && !strings.ContainsAny(nameOrPath, `/\.`) {
		return nil, fmt.Errorf("no styles %q: want %s or a file of \"mannequin style transfer\"%s", nameOrPath, ShippedTransfers, closest.Hint(nameOrPath, []string{ShippedTransfers}))
	}
	ts, err := manifold.OpenStyleSet(nameOrPath)
	var other *netruntime.UnsupportedError
	if errors.As(err, &other) && other.What == "architecture" {
		return nil, fmt.Errorf("%s: a file of %q, not styles of a crowd: make some with \"mannequin style transfer\"", nameOrPath, other.Got)
	}
	return ts, err
}
