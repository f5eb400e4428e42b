05_tokens.o: chapters/05_tokens.c src/attention.h
src/attention.h:
