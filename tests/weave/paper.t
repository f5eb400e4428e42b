#!/usr/bin/env perl
# The book on paper: nothing of a chapter is lost or cut on the way to the PDFs, and the EPUB
# is as its standard wants it. What should stand there is read from the chapters, and from
# the pictures that their programs drew.

use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use File::Glob qw(bsd_glob);
use File::Temp qw(tempdir);
use FindBin qw($Bin);
use Headers;
use Test::More;
use Text;

# The text block's width, how far numbers of lines stand out of it, and how far it is from
# the paper's upper and lower edges, in points.
my ($MEASURE, $GUTTER, $TOP, $BOTTOM) = (380, 36, 65, 65);
my %SIGN = (lt => '<', gt => '>', amp => '&', quot => '"', apos => "'");

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
sub squeezed { return join('', @_) =~ s/[\s\x{200b}\x{ad}]+//gr }
sub said { return $_[0] =~ s/&(?:#(\d+)|(\w+));/defined $1 ? chr $1 : $SIGN{$2}/ger }

# The pages of a PDF: their lines, as words from left to right with their places, and in the
# body those without what stands above and below the text block; and their text without blanks.
sub pages_of {
    my ($path) = @_;
    my @pages;
    for (split /\n/, `pdftotext -bbox '$path' - 2>/dev/null`) {
        push @pages, {number => @pages + 1, width => $1, height => $2, words => []} if /<page width="(\S+)" height="(\S+)"/;
        push @{$pages[-1]{words}}, {x0 => $1, y0 => $2, x1 => $3, y1 => $4, text => said($5)}
          if m{<word xMin="(\S+)" yMin="(\S+)" xMax="(\S+)" yMax="(\S+)">(.*)</word>};
    }
    for my $page (@pages) {
        my @lines;
        my $middle = sub { ($_[0]{y0} + $_[0]{y1}) / 2 };
        for my $word (sort { $middle->($a) <=> $middle->($b) } @{$page->{words}}) {
            push @lines, [] if !@lines || $middle->($word) - $middle->($lines[-1][0]) > 3;
            push @{$lines[-1]}, $word;
        }
        $page->{left}  = ($page->{width} - $MEASURE) / 2;
        $page->{lines} = [map { [sort { $a->{x0} <=> $b->{x0} } @$_] } @lines];
        $page->{body}  = [grep { $_->[0]{y0} > $TOP && $_->[0]{y1} < $page->{height} - $BOTTOM } @{$page->{lines}}];
        $page->{text}  = squeezed(map { $_->{text} } map {@$_} @{$page->{body}});
    }
    return @pages;
}

# ---- What should be there

my @chapters = map { Chapter->load($_) } bsd_glob('chapters/*.c');
my $text = join '', map { Text::of_file($_) } bsd_glob('chapters/*.c'), 'book.md';
my ($author, $version) = map { $text =~ /^$_: '?([^'\n]+)/m } qw(author version);

# Figures: the number, and what the picture says. Those of book.md have no chapter's number.
sub figures_in {
    my ($path, $folder, $number) = @_;
    my $count = 0;
    return map {
        my $says = join ' ', Text::of_file("$build/figures/$folder/$_") =~ m{<text\b[^>]*>(.*?)</text>}gs;
        {number => $number . ++$count, says => [map { said($_) } split ' ', $says =~ s/<[^>]*>/ /gr]};
    } Text::of_file($path) =~ /\]\(([\w-]+\.svg)\)/g;
}
my @figures = (figures_in('book.md', 'page', ''),
    map { figures_in($_->{path}, $_->{number}, $_->{number} =~ s/^0+//r . '.') } @chapters);
cmp_ok(scalar @figures, '>', 50, 'there are figures');

# Lines of code, each behind its number. Of a chapter, the includes of the book's own
# headers are not shown: its own stands for them.
sub code_of {
    my ($chapter) = @_;
    my $own = -e "src/attention/$chapter->{name}.h";
    return map { ($chapter->{from} ? $chapter->{from}[$_][1] : $_ + 1) . '|' . squeezed($chapter->{lines}[$_]) }
      grep { $chapter->{lines}[$_] =~ /\S/ && !($own && $chapter->{lines}[$_] =~ /^#include "/) }
      $chapter->lines_of('code');
}
my @code = map { code_of($_) } @chapters, Headers->load('src/attention.h');

# ---- What is there

sub outside {
    my ($page) = @_;
    my $right = $page->{left} + $MEASURE;
    return map { sprintf 'page %d: "%s" at %.0f to %.0f, %.0f is outside', $page->{number}, @$_{qw(text x0 x1 y0)} } grep {
        # Numbers of lines, and marks at a line's end, hang.
        my $out = $_->{text} =~ /^\d+$/ && $_->{x1} < $page->{left} ? $GUTTER : 1;
        $_->{x0} < $page->{left} - $out || $_->{x1} > $right + ($_->{text} =~ /[\p{P}\x{ad}]$/ ? 3.5 : 1)
          || $_->{y0} < 40 || $_->{y1} > $page->{height} - 30
    } @{$page->{words}};
}

# Is a page's last quarter empty, and what follows no large title?
sub ends_early {
    my ($page, $next) = @_;
    my @next = map {@$_} grep {defined} @{$next->{body}}[0 .. 2];
    return 0 if !@{$page->{body}} || grep { $_->{y1} - $_->{y0} > 20 } @next;
    my ($end) = sort { $b <=> $a } map { $_->{y1} } map {@$_} @{$page->{body}};
    return $end < $TOP + 3 / 4 * ($page->{height} - $TOP - $BOTTOM);
}

for my $pdf (@pdfs) {
    my @pages = pages_of($pdf);
    my @lines = map { my $page = $_; map { [$page, @$_] } @{$page->{lines}} } @pages;
    my %title = map { squeezed(map { $_->{text} } grep { $_->{y1} - $_->{y0} > 20 } map {@$_} @{$_->{body}}) => 1 } @pages;
    none("$pdf: every chapter is there", grep { !$title{$_} } map { squeezed(($_->{number} =~ s/^0+//r)
            . ($_->{lines}[1] =~ s/^# | \{.*//gr =~ tr/'`*/\x{2019}/dr)) } @chapters);
    none('no word is outside of the text block', map { outside($_) } @pages);
    my %there;
    $there{"$_->[1]{text}|" . squeezed(map { $_->{text} } @$_[2 .. $#$_])}++ for grep { $_->[1]{x1} < $_->[0]{left} } @lines;
    none('every line of code is there, whole, behind its number', grep { !$there{$_}-- } @code);
    none('every table of an output is there, on one page', map { my $chapter = $_; map {
            my $output = $_;
            map {"$chapter->{path}:$output->{first}: $_"} grep { my $table = squeezed($_); !grep { index($_->{text}, $table) >= 0 } @pages }
              split /(?<=\])\n(?=[^\[ ])/, join "\n", @{$_->{lines}};
        } grep { $_->{info} =~ /output/ } @{$chapter->{blocks}} } @chapters);
    none('every figure is there, with what it says', grep {
            my ($number, $says) = @$_{qw(number says)};
            my ($on) = map { $_->[0] } grep { join(' ', map { $_->{text} } @$_[1 .. $#$_]) =~ /^Figure \Q$number\E\. / } @lines;
            $_ = "figure $number";
            !$on || grep { index($on->{text}, squeezed($_)) < 0 } @$says
        } map { {%$_} } @figures);
    # What cannot be broken may have to begin on the next page.
    my @early = map { $_->{number} } grep { ends_early($_, $pages[$_->{number}]) } @pages[0 .. $#pages - 1];
    ok 20 * @early <= @pages, 'of one page in twenty at most, the last quarter is empty'  or diag "pages @early of " . @pages;
    my %sign = map { $_ => 1 } map { split //, $_->{text} } @pages;
    none('no sign is lost', grep({/[\x{fffd}\x{0}-\x{8}]/} keys %sign),
        grep { !$sign{$_} } $text =~ /([\x{c0}-\x{17f}\x{3000}-\x{ffef}])/g);
    none('nothing is there for the web alone', grep { my $words = squeezed($_); grep { index($_->{text}, $words) >= 0 } @pages }
          $text =~ /\[([^][]{20,})\]\{\.web-only\}/g);
    my (undef, undef, @fonts) = `pdffonts '$pdf' 2>/dev/null`;
    none('the PDF has all its fonts', @fonts ? () : 'none', grep { !/\byes\s+(?:yes|no)\s+yes\s+\d+\s+\d+\s*$/ } @fonts);
    my $info = `pdfinfo '$pdf' 2>/dev/null`;
    like($info, $_, 'the PDF says who made which version when')
      for qr/^Author: +\Q$author\E$/m, qr/^Keywords: +version \Q$version\E$/m, qr/^CreationDate: +\w/m;
}
my $again = tempdir(CLEANUP => 1) . '/again.pdf';
is system("tools/weave/typeset '$book.typ' '$again' a4 && cmp '$again' '$pdfs[0]'"), 0, 'the same bytes each time';

my $within = `unzip -p '$book.epub' EPUB/content.opf 'EPUB/text/*.xhtml'`;
like($within, $_, 'the EPUB says who made which version')
  for qr/<dc:creator[^>]*>\Q$author\E</, qr/<dc:identifier[^>]*>version \Q$version\E</;
unlike($within, qr/<title>[^<]*\.xhtml</, 'its files are called by their titles');
my $said = `java -jar $epubcheck '$book.epub' 2>&1`;
like($said, qr/No errors or warnings detected/, 'epubcheck is content') or diag($said);

done_testing();
