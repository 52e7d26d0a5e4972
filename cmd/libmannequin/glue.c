#include "glue.h"

#include <string.h>

// Texts with the stack of a panic are long.
static _Thread_local char lastError[4096];

void mqSetLastError(const char* text, size_t length) {
	if (length >= sizeof lastError)
		length = sizeof lastError - 1;
	memcpy(lastError, text, length);
	lastError[length] = 0;
}

// Not of Go, so that it stays what it was.
int32_t mqGetLastError(char* text, int32_t capacity) {
	size_t length = strlen(lastError);
	if (text && capacity > 0) {
		size_t n = length < (size_t)capacity ? length : (size_t)capacity - 1;
		memcpy(text, lastError, n);
		text[n] = 0;
	}
	return (int32_t)length;
}

mqGroundHit mqCallGround(mqGroundFcn* ground, mqGroundQuery query, void* context) {
	mqGroundHit hit = { 0 };
	ground(&query, &hit, context);
	return hit;
}

void mqCallMove(mqMoveFcn* move, mqCrowdId crowd, mqMove* moves, int32_t count, void* context) {
	move(crowd, moves, count, context);
}
