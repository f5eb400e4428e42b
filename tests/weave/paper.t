#!/usr/bin/env perl
# The book on paper: nothing of a chapter is lost, cut or broken on the way to the
# PDFs, their references lead where they say, and the EPUB is as its standard wants it.

use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use File::Glob qw(bsd_glob);
use FindBin qw($Bin);
use Headers;
use Paper;
use Test::More;
use Text;

chdir "$Bin/../.." or die "$Bin/../..: $!\n";
my $build = $ENV{BUILD} // 'build';
my $book  = "$build/attention-in-c";
my @pdfs  = @ARGV ? @ARGV : ("$book.pdf", "$book-letter.pdf");
sub needed {
    my ($what) = @_;
    die "$what\n" if $ENV{CI};
    plan skip_all => $what;
}
-e or needed("$_ is not there: make pdf epub") for @pdfs, "$book.epub";
needed('pdftotext is not there: install poppler-utils') if system('pdftotext -v 2>/dev/null') != 0;
# Debian's program is a jar that not every kernel starts by itself.
my ($epubcheck) = grep {-e} '/usr/share/java/epubcheck.jar', '/usr/bin/epubcheck';
needed('epubcheck is not there: install epubcheck') if !$epubcheck;

sub none {
    my ($name, @wrong) = @_;
    ok(!@wrong, $name) or diag(map {"  $_\n"} @wrong[0 .. ($#wrong < 19 ? $#wrong : 19)]);
}

my @chapters = map { Chapter->load($_) } bsd_glob('chapters/*.c');
my $header   = Headers->load('src/attention.h');
my @pictures = Text::of_file('book.md') =~ /\]\(([\w-]+\.svg)\)/g;
my @figures  = ((map { Paper::figure($_ + 1, "$build/figures/page/$pictures[$_]") } 0 .. $#pictures),
    map { Paper::figures_of($_, "$build/figures") } @chapters);
cmp_ok(scalar @pictures, '>', 1, 'book.md has figures');
my $text = join '', map { Text::of_file($_) } bsd_glob('chapters/*.c'), 'book.md';
my ($author, $version) = map { $text =~ /^$_: '?([^'\n]+)/m } qw(author version);

for my $pdf (@pdfs) {
    my $pages = Paper::read_pdf($pdf);
    cmp_ok(scalar @$pages, '>', 100, "$pdf: there are pages");
    none('no word is outside of the text block', Paper::outside($pages, \@figures));
    none('every line of code is there, whole', Paper::code_missing($pages, @chapters, $header));
    none('code of up to 30 lines is on one page', Paper::code_broken($pages));
    none('no code is too small', Paper::code_small($pages));
    none('no table of an output is broken', Paper::output_broken($pages, @chapters));
    none('every figure is there', Paper::figures_missing($pages, \@figures));
    none('nothing that announces stands last on a page', Paper::left_alone($pages, Paper::titles_of($text)));
    # What cannot be broken may have to begin on the next page.
    my @early = Paper::ends_early($pages);
    ok 20 * @early <= @$pages, 'of one page in twenty at most, the last quarter is empty' or diag map {"$_\n"} @early;
    none('nothing is there for the web alone', Paper::left_from_web($pages, $text));
    none('no sign is lost', Paper::signs_lost($pages, $text));
    none('a page that is named is the right one', Paper::misled($pages));
    none('the PDF has all its fonts', Paper::fonts_wrong($pdf));
    my $info = qx{pdfinfo '$pdf' 2>/dev/null};
    like($info, $_, 'the PDF says who made which version when')
      for qr/^Author: +\Q$author\E$/m, qr/^Keywords: +version \Q$version\E$/m, qr/^CreationDate: +\w/m;
}

# Typst paints edges glyph by glyph: over each text with one stands the same without.
my $set   = Text::of_file("$book.typ");
my $edged = qr/<text[^>]*\brim\b[^>]*>([^<]*)<\/text>/;
unlike($set . Text::of_file('tools/theme/book.typ'), qr/\bfloat: true/, 'no figure leaves its place');
like($set, $edged, 'there are texts with an edge');
none('the edge of no glyph covers the one before it', $set =~ /$edged(?!<text(?![^>]*\brim\b)[^>]*>\1<)/g);

my $said = qx{java -jar $epubcheck '$book.epub' 2>&1};
my $within = qx{unzip -p '$book.epub' EPUB/content.opf 'EPUB/text/*.xhtml'};
like($within, $_, 'the EPUB says who made which version')
  for qr/<dc:creator[^>]*>\Q$author\E</, qr/<dc:identifier[^>]*>version \Q$version\E</;
unlike($within, qr/<title>[^<]*\.xhtml</, 'its files are called by their titles');
like($said, qr/No errors or warnings detected/, 'epubcheck is content') or diag($said);

done_testing();
