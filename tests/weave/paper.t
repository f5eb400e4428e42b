#!/usr/bin/env perl
# The book on paper: nothing of a chapter is lost, cut or broken on the way to the
# PDFs, their references lead where they say, and the EPUB is as its standard wants
# it. Then each fault is planted in a small document, and must be found.

use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use Digest::SHA;
use File::Glob qw(bsd_glob);
use File::Temp qw(tempdir);
use FindBin qw($Bin);
use Headers;
use Paper;
use Test::More;
use Text;

chdir "$Bin/../.." or die "$Bin/..: $!\n";
my $build = $ENV{BUILD} // 'build';
my $book  = "$build/attention-in-c";
sub needed {
    my ($what) = @_;
    die "$what\n" if $ENV{CI};
    plan skip_all => $what;
}
my @pdfs  = @ARGV ? @ARGV : ("$book.pdf", "$book-letter.pdf");
-e or needed("$_ is not there: make pdf epub") for @pdfs, "$book.epub";
needed('pdftotext is not there: install poppler-utils') if system('pdftotext -v 2>/dev/null') != 0;
# Debian's program is a jar that not every kernel starts by itself.
my ($epubcheck) = grep {-e} '/usr/share/java/epubcheck.jar', '/usr/bin/epubcheck';
needed('epubcheck is not there: install epubcheck') if !$epubcheck;

sub none {
    my ($name, @wrong) = @_;
    ok(!@wrong, $name) or diag(map {"  $_\n"} @wrong[0 .. ($#wrong < 19 ? $#wrong : 19)]);
}

# ------------------------------------------------------------------ the book

my @chapters = map { Chapter->load($_) } bsd_glob('chapters/*.c');
my $header   = Headers->load('src/attention.h');
my @figures  = map { Paper::figures_of($_, "$build/figures") } @chapters;
unshift @figures, Paper::figure('1', 'tools/theme/transformer.svg');
my $text = join '', map { Text::of_file($_) } bsd_glob('chapters/*.c'), 'book.md';

for my $pdf (@pdfs) {
    my $pages = Paper::read_pdf($pdf);
    my ($name) = $pdf =~ m{([^/]+)$};
    cmp_ok(scalar @$pages, '>', 100, "$name: there are pages");
    none("$name: no word is outside of the text block", Paper::outside($pages, \@figures));
    none("$name: every line of code is there, whole", Paper::code_missing($pages, @chapters, $header));
    none("$name: no table of an output is broken", Paper::output_broken($pages, @chapters));
    none("$name: every figure is there", Paper::figures_missing($pages, \@figures));
    none("$name: nothing that announces stands last on a page", Paper::left_alone($pages, Paper::titles_of($text)));
    # What cannot be broken may have to begin on the next page.
    my @early = Paper::ends_early($pages);
    ok 100 * @early <= @$pages, "$name: of one page in a hundred at most, the last quarter is empty" or diag map {"$_\n"} @early;
    none("$name: nothing is there for the web alone", Paper::left_from_web($pages, $text));
    none("$name: no sign is lost", Paper::signs_lost($pages, $text));
    none("$name: a page that is named is the right one", Paper::misled($pages));
    none("$name: so it is in the contents", Paper::contents_wrong($pages));
    none("$name: and in the index", Paper::index_wrong($pages));
    none("$name: has all its fonts", Paper::fonts_wrong($pdf));
}

my $said = qx{java -jar $epubcheck '$book.epub' 2>&1};
like($said, qr/No errors or warnings detected/, 'epubcheck is content') or diag($said);

# -------------------------------------------------------- faults that are planted

my $folder = tempdir(CLEANUP => 1);

# Sets a small book; returns its pages, or what was said instead.
sub set {
    my ($body, $name) = @_;
    my $path = "$folder/" . ($name // 'small');
    open my $file, '>', "$path.typ" or die "$path.typ: $!\n";
    print $file qq{#import "/tools/theme/book.typ": *\n#show: book.with(title: "T", subtitle: "S")\n$body};
    close $file;
    my $said = qx{tools/weave/typeset '$path.typ' '$path.pdf' a4 2>&1};
    return $? ? $said : Paper::read_pdf("$path.pdf");
}

# A chapter of four lines of code and one output.
my $long = 'x' x 64;
my $chapter = bless {path => 'chapters/01_one.c', number => '01',
    lines => ['int main(void)', '{', "    return $long;", '}'],
    kind => [('code') x 4], blocks => [{info => 'output', first => 7, lines => ['weights (2)', '[1.0000,', ' 2.0000]', 'its sum: 3']},
        {info => '{.output args="1 2"}', first => 13, lines => ['three']}]},
  'Chapter';
my $svg = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="60"><text x="9" y="30">word</text></svg>';
my $figure = {number => '1.1', says => ['word'], width => 200, height => 60};

# $fault{...} stands in for the right part.
sub small {
    my (%fault) = @_;
    my %part = (
        contents => '#contents()',
        chapter  => '#chapter("one", "Chapter", "1", "")[First things]',
        code     => qq{#listing("", ((first: 1, text: "int main(void)\\n{\\n    return $long;\\n}", blank: 0,}
          . ' marks: ("1": "main")),))',
        output   => '#output("output", false, "", "weights (2)\n[1.0000,\n 2.0000]\nits sum: 3")',
        figure   => '#picture("fig-a", 200, 60, "Figure\u{a0}1.1", "alt", "' . $svg =~ s/"/\\"/gr . '", false)[See it]',
        run      => '#output("make -s run-01 ARGS=\"1 2\"", true, "", "three")',
        prose    => 'Übersetzen, 注意力.',
        foot     => '#v(1fr) The end of a page.',
        reference => '#pagebreak() See #refer(label("one"), "")[chapter~1] and #refer(label("fig-a"), "")[figure~1.1].',
        index    => '#chapter("index", "", "", "")[Index] #index-columns()',
        %fault);
    return join "\n\n", @part{qw(contents chapter code output run figure prose foot reference index)};
}

sub wrongs {
    my ($pages) = @_;
    return "set: $pages" if !ref $pages;
    return (Paper::outside($pages, [$figure]), Paper::code_missing($pages, $chapter),
        Paper::output_broken($pages, $chapter), Paper::figures_missing($pages, [$figure]),
        Paper::signs_lost($pages, 'Übersetzen, 注意力'), Paper::misled($pages),
        Paper::contents_wrong($pages), Paper::index_wrong($pages), Paper::ends_early($pages),
        Paper::left_alone($pages, 'Secondthings'), Paper::left_from_web($pages, '[Press a key, and see.]{.web-only}'));
}

sub finds {
    my ($name, $pattern, %fault) = @_;
    my @wrong = wrongs(set(small(%fault)));
    ok(@wrong > 0 && !(grep { $_ !~ $pattern } @wrong), "found: $name") or diag(map {"  $_\n"} @wrong, 'nothing else');
}

none('a small book is right', wrongs(set(small())));
finds('a word that stands out', qr/"outside" .* outside of the text block/,
    prose => 'Übersetzen, 注意力 #place(dx: 360pt)[outside]');
finds('a line of code that stands out and is cut', qr/01_one\.c:3: is not|outside of the text block/,
    code => small() =~ /^(#listing.*)$/m ? $1 =~ s/return xx/return #xx/r =~ s/x{70}/'x' x 90/er : '');
finds('a line of code that is missing', qr/01_one\.c:4: is not on paper/,
    code => small() =~ /^(#listing.*)$/m ? $1 =~ s/\\n\}"/"/r : '');
finds('a table of numbers that is broken', qr/01_one\.c:7: this output stands on no page/,
    output => '#output("output", false, "", "weights (2)\n[1.0000,") #v(1fr) End. #pagebreak() #output("output", false, "", " 2.0000]\nits sum: 3")');
finds('a table that is far from the first', qr/01_one\.c:7: this output stands on no page/,
    output => '#output("output", false, "", "weights (2)\n[1.0000,\n 2.0000]")',
    reference => small() =~ /^(#pagebreak.*)$/m ? "$1 #v(1fr) It ends. #pagebreak() its sum: 3" : '');
finds('a command that is another', qr/01_one\.c:13: this output stands on no page/,
    run => '#output("make -s run-NN ARGS=\"1 2\"", true, "", "three")');
finds('a title that is left alone', qr/page 3: ends with: Second things/, foot => '#v(1fr) Second things');
finds('a page that ends early', qr/page 3: is empty from/, foot => '#v(180pt) It ends.');
finds('what is for the web alone', qr/is for the web alone: Press/, prose => 'Übersetzen, 注意力. Press a key, and see.');
finds('a figure that is missing', qr/figure 1\.1 is on no page/, figure => '#anchor("fig-a")',
    reference => '#pagebreak() See #refer(label("one"), "")[chapter~1].');
finds('a figure that lacks a word', qr/figure 1\.1 lacks: word/,
    figure => small() =~ /^(#picture.*)$/m ? $1 =~ s/>word</>else</r : '');
finds('a sign that no font has', qr/set: .*(?:could not be displayed|龘|glyph)/s, prose => 'Übersetzen, 注意力 龘');
finds('a page that is named wrongly', qr/chapter 1 is not on page 4/,
    reference => '#pagebreak() See #refer(label("fig-a"), "")[figure~1.1] and chapter~1, page~4.');
finds('contents that are wrong', qr/the contents have First things on page 4/,
    contents => '#heading(level: 1, outlined: false)[Contents]' . "\n\nFirst things 4");
finds('an index that is wrong', qr/the index has main on page 2/,
    index => '#chapter("index", "", "", "")[Index] #v(20pt) #columns(3)[main 2]');
finds('a font that is not there', qr/set: .*unknown font/s,
    prose => '#text(font: "Nowhere Sans")[Übersetzen, 注意力]');

# The same bytes again.
my @sums = map { set(small(), $_); Digest::SHA->new(256)->addfile("$folder/$_.pdf")->hexdigest } 'once', 'twice';
is($sums[0], $sums[1], 'a PDF that is made twice has the same bytes');

done_testing();
