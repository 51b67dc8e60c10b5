import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as spanish } from "@orama/stemmers/spanish";

// The languages of questions beside English, apart from it because a page in a file is small and leaves them out (.ci/bundle-page.mjs).

/** A language whose words have stems. */
export type Language = "english" | "german" | "french" | "spanish";

/** The stems and stop words of a language. */
export interface LanguageRules {
  readonly name: Language;
  readonly stemmer: (word: string) => string;
  /** Words of a question that say nothing about the answer, separated by white space. */
  readonly stopWords: string;
}

export const OTHER_LANGUAGES: readonly LanguageRules[] = [
  {
    name: "german",
    stemmer: german,
    stopWords: `aber als am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den denn der des dessen die dies diese dieser
    dieses doch dort du durch eigentlich ein eine einem einen einer eines er es etwas euch euer für gegen gewesen hab habe haben hat hatte hatten
    hier hin ich ihm ihn ihr ihre im in ins ist ja jede jeder jetzt kann kein keine können man mein meine mich mir mit muss müssen nach nein
    nicht noch nun nur ob oder ohne passiert sehr sein seine sich sie sind so soll sollte über um und uns unser unter viele vielen vom von vor
    wann war waren warum was weil welche welcher welches wenn wer werden wie wieder wird wo wollen wurde wurden zu zum zur zwischen`,
  },
  {
    name: "french",
    stemmer: french,
    stopWords: `a ai au aucun aussi autre aux avant avec avoir c ce cela ces cet cette ceux ci comme comment d dans de depuis des deux doit
    dont du elle elles en encore entre es est et eu eux fait faire fois il ils j je l la le les leur leurs lui m ma mais me même mes moi mon
    n ne ni nos notre nous on ont ou où par pas peu peut plus plusieurs pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa
    sans se sera ses si son sont sous sur t ta te tes toi ton tous tout très tu un une va vos votre vous y ça été être`,
  },
  {
    name: "spanish",
    stemmer: spanish,
    stopWords: `a al algo alguna algunas alguno algunos ante antes aquí así aún aunque bajo bien cada como con contra cual cuales cuando de
    del desde donde dos durante e el él ella ellas ellos en entre era eran es esa esas ese eso esos esta están este esto estos fue fueron ha
    había han hasta hay la las le les lo los más me mi mí mientras mis mucho muy nada ni no nos nosotros nunca o os otra otro para pero poco
    por porque puede pueden pues que quien quienes se sea según ser si sí sido sin sobre son su sus también tan te tiene tienen todo todos
    tu tus un una uno unos y ya yo`,
  },
];
