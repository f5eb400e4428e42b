/* What kind a character is of, which no chapter uses. */
#pragma once

#include <stdint.h>

enum { UNICODE_OTHER, UNICODE_LETTER, UNICODE_NUMBER, UNICODE_SPACE };

/* Unicode's general categories L and N, its property White_Space, and all
 * else; of the version that unicode_kinds.h names. */
int unicode_kind(uint32_t character);
