#include <herd>
