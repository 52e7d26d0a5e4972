			// Sums of eight products are float16, for values up to 500 and weights up to 16: none is beyond 65,504. Products of other values are float32.
			while k < end {
// each
				var part# = vec4<f16>();
// end
				let stop = min(k + 8u, end);
				for (; k < stop; k++) {
					let v = four_weights(b);
					let half = vec4<f16>(v); // exact
					b += columns / PER_WORDu;
// each
					let x# = value(at#, k, from#, to#);
					if abs(x#) <= 500.0 {
						part# = fma(vec4<f16>(f16(x#)), half, part#);
					} else {
						sum# = fma(vec4<f32>(x#), v, sum#);
					}
// end
				}
// each
				sum# += vec4<f32>(part#);
// end
			}
