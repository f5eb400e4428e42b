03_qkv.o: chapters/03_qkv.c src/attention.h
src/attention.h:
