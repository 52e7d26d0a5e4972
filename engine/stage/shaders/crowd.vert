#include <herd>

// Some have longer hair than others.
float thickness(vec4 variation) { return mix(-0.002, 0.010, variation.w) * Coat.z; }
