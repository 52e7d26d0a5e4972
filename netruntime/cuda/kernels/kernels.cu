// The backend's kernels, one for each type of operand and size of tile.
#include "light.h"
#include "product.h"

#define PRODUCT(name, unit, wm, wn, mi, ni, together)                                                                                     \
	extern "C" __global__ void __launch_bounds__((wm) * (wn) * 32, together) name(const product* op, long long rows, long long frame) { \
		multiply<unit, wm, wn, mi, ni>(op, rows, frame);                                                                               \
	}

// Tiles of 256 by 128; of 128 by 128, of which two blocks share a
// multiprocessor and each hides the other's waits; and of 64 by 64 for few rows.
PRODUCT(product_bf16_large, unit_bf16, 4, 2, 4, 8, 1)
PRODUCT(product_tf32_large, unit_tf32, 4, 2, 4, 8, 1)
PRODUCT(product_fp32_large, unit_fp32, 4, 2, 4, 8, 1)
PRODUCT(product_bf16_medium, unit_bf16, 2, 2, 4, 8, 2)
PRODUCT(product_tf32_medium, unit_tf32, 2, 2, 4, 8, 2)
PRODUCT(product_fp32_medium, unit_fp32, 2, 2, 4, 8, 2)
PRODUCT(product_bf16_small, unit_bf16, 2, 2, 2, 4, 3)
PRODUCT(product_tf32_small, unit_tf32, 2, 2, 2, 4, 3)
PRODUCT(product_fp32_small, unit_fp32, 2, 2, 2, 4, 3)

extern "C" __global__ void __launch_bounds__(LIGHT_THREADS) light_chain(const light* ops, long long count, long long rows, long long frame) {
	run_light(ops, count, rows, frame);
}
