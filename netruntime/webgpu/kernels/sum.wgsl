			for (; k < end; k++) {
				let v = four_weights(b);
				b += columns / PER_WORDu;
// each
				sum# = fma(vec4<f32>(value(at#, k, from#, to#)), v, sum#);
// end
			}
