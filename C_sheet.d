C_sheet.o: chapters/C_sheet.c src/attention.h
src/attention.h:
