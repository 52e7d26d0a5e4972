// Clothes depend on a person's variation: four values, 0…1 each.

// shorts is 1 for those in shorts.
float shorts(vec4 variation) { return step(0.80, fract(variation.z * 5.0)); }

// sleeve returns where on the channel of the skin the sleeves end.
float sleeve(vec4 variation) { return mix(0.5, 0.89, step(0.62, fract(variation.x * 7.0))); }
