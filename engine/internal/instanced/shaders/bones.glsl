// One block of Bones per character: three texels per joint, the rows of its 3×4
// skinning matrix, then one texel of coat or shirt colour and one of the character's
// variation. Order lists the characters that this draw call shows, starting at Base.
uniform sampler2D Bones;
uniform isampler2D Order;
uniform int Base;
uniform int Joints;
uniform int PerLine; // characters in a line of Bones

// character returns the first texel of this instance's character.
ivec2 character() {
	int i = Base + gl_InstanceID;
	i = texelFetch(Order, ivec2(i % 1024, i / 1024), 0).r;
	return ivec2(i % PerLine * (3 * Joints + 2), i / PerLine);
}

// skin adds up the joints' matrices by weight.
mat4x3 skin(ivec2 character, vec4 joint, vec4 weight) {
	vec4 a = vec4(0.0), b = vec4(0.0), c = vec4(0.0);
	for (int k = 0; k < 4 && weight[k] > 0.0; k++) { // largest weights come first
		ivec2 at = character + ivec2(int(joint[k]) * 3, 0);
		a += weight[k] * texelFetch(Bones, at, 0);
		b += weight[k] * texelFetch(Bones, at + ivec2(1, 0), 0);
		c += weight[k] * texelFetch(Bones, at + ivec2(2, 0), 0);
	}
	return transpose(mat3x4(a, b, c));
}

vec3 tintOf(ivec2 character) { return texelFetch(Bones, character + ivec2(3 * Joints, 0), 0).rgb; }
vec4 variationOf(ivec2 character) { return texelFetch(Bones, character + ivec2(3 * Joints + 1, 0), 0); }
