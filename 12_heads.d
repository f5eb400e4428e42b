12_heads.o: chapters/12_heads.c src/attention.h
src/attention.h:
